from tests.tools.names.dbpedia_servers import servers as servers
