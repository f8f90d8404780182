"""Results of SELECT and ASK as documents: read `documents` first, the door; then one module a syntax."""
