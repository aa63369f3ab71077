/** The bodies of the postback endpoint, exactly as the interface has them. All of them are HTTP 200. */

export type FieldErrors = Record<string, string[]>;

export type PostbackAnswer =
	| { message: "Postback received successfully" }
	| { message: "The given data was invalid."; errors: FieldErrors; error_code: 1 }
	| { message: "something went wrong"; error_code: 2 };

export const RECEIVED: PostbackAnswer = { message: "Postback received successfully" };
export const FAILED: PostbackAnswer = { message: "something went wrong", error_code: 2 };
export const UNKNOWN_KEY: PostbackAnswer = invalid({ access_key: ["The access key is invalid."] });

export function invalid(errors: FieldErrors): PostbackAnswer {
	return { message: "The given data was invalid.", errors, error_code: 1 };
}
