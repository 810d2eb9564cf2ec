from tests.tools.knowledge_base.dbpedia_servers import servers as servers
