import { describePages } from "./support/describe-pages.ts";

describePages(null);
describePages("publisher");
