"""Built releases: manifest, names, recorded objects, verification, and opening."""
