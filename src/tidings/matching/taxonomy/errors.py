"""The errors of taxonomies.

BadRequest
└── TaxonomyUnreadable    taxonomy_unreadable    400   no topics with labels, or no file of a known form
"""

from tidings.model.errors import BadRequest


class TaxonomyUnreadable(BadRequest):
    code = "taxonomy_unreadable"
