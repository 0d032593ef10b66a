# The report page in a real browser. The main Makefile includes this file.

BROWSER := crates/rpfcluster-report/browser

.PHONY: pages pictures

pages: ## the report page in a real browser (Chromium), installing what it needs
	sh $(BROWSER)/run.sh test

pictures: ## the pictures of the report page in docs/pictures, taken anew
	sh $(BROWSER)/run.sh pictures docs/pictures
