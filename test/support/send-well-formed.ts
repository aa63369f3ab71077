/**
 * Setup of every test file of the `worker` project: whatever workerd tells Vitest is well-formed text.
 *
 * The pool of @cloudflare/vitest-plugin 1.5.0 sends names of tests and messages of failed assertions to Vitest as they are, over a
 * WebSocket. A lone surrogate in one, such as a property test finds, or half a character where a message was cut, is no UTF-8: then
 * Vitest closes the connection with "Invalid WebSocket frame: invalid UTF-8 sequence", and the failure is lost together with all the
 * file's results. With U+FFFD in its place the failure is shown.
 */
const send = WebSocket.prototype.send;
// An earlier file of the same process may have done so.
if (send.name !== sendWellFormed.name) WebSocket.prototype.send = sendWellFormed;

function sendWellFormed(this: WebSocket, message: Parameters<typeof send>[0]): void {
	send.call(this, typeof message === "string" ? message.toWellFormed() : message);
}
