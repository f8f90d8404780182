"""Results of SELECT and ASK as documents: read `documents` first, the entry point; then one module for each syntax."""
