"""Those who make and mend plans: from a recipe as it is, by rule, or by a model."""
