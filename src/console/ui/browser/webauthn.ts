/** What asks the browser for a passkey: loaded by passkeys.ts, once it is needed. */
export { startAuthentication, startRegistration } from "@simplewebauthn/browser";
