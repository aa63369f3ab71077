/** Where operators begin. */
import { page } from "../page.ts";

export const OPERATOR_HOME_PAGES = [
	page({
		method: "GET",
		path: "/console/operator",
		needs: { staff: "viewer" },
		title: "Operator",
		handle: () => (
			<form method="post" action="/console/view-as">
				<p>
					<label>
						Id of a publisher <input name="publisher" required />
					</label>
				</p>
				<button type="submit">Look at its console</button>
			</form>
		),
	}),
];
