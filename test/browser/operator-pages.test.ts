import { describePages } from "./support/describe-pages.ts";

describePages("operator");
