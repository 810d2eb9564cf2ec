"""What an editable installation puts on the path: it loads the package from the checkout in place of this file.

setuptools would install an import hook, which Python asks only after the path. There any folder named factloop counts
as a namespace package, such as the checkout for a script in its parent folder. And with the checkout itself on the
path, `tools`, `tests` and other common names could be imported everywhere.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_spec = spec_from_file_location(__name__, Path(__file__).resolve().parents[3] / "factloop" / "__init__.py")
assert _spec is not None
assert _spec.loader is not None
sys.modules[__name__] = module_from_spec(_spec)  # the import system returns what it finds here
_spec.loader.exec_module(sys.modules[__name__])
