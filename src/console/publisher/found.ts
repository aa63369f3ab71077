import { HttpError } from "../../lib/http.ts";

/** What a verb has found. @throws HttpError 404 where it has found nothing */
export function found<Answer>(answer: Answer | null): Answer {
	if (answer === null) throw new HttpError(404, { error: "Not found" });
	return answer;
}
