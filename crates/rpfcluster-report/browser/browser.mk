# Tasks of the report page in a browser. The main Makefile includes this file.

BROWSER := crates/rpfcluster-report/browser

.PHONY: pages pictures

pages: ## test the report page in Chromium
	@sh $(BROWSER)/run.sh test

pictures: ## take the pictures of the report page in docs/pictures again
	@sh $(BROWSER)/run.sh pictures docs/pictures
