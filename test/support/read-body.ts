import { type BodyResult, decodeBody, receiveBody } from "../../src/openrtb/read-body.ts";

/** Both steps at once, as the route takes them. */
export async function readBody(request: Request): Promise<BodyResult> {
	return decodeBody(await receiveBody(request, request.headers));
}
