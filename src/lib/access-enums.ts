/** Closed lists of who may do what, and by what they prove it, as they are spelled on the wire and in the database. */

/** What a holder of an operator key may do: `viewer` sees; `manager` and `finance` see, and change what is theirs; `admin` does everything. */
export const OPERATOR_ROLES = ["viewer", "manager", "finance", "admin"] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** What a publisher's person may do in the console: `analyst` sees; `owner` does everything that is the publisher's. */
export const PUBLISHER_ROLES = ["analyst", "owner"] as const;
export type PublisherRole = (typeof PUBLISHER_ROLES)[number];

/** Of everyone whose changes are audited. */
export const PERSON_ROLES = [...OPERATOR_ROLES, ...PUBLISHER_ROLES] as const;
export type PersonRole = (typeof PERSON_ROLES)[number];

/** What a one-time link is for: someone's first, or another one. */
export const LINK_PURPOSES = ["invitation", "sign_in"] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

export const SIGN_IN_METHODS = ["link", "passkey", "access"] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** What a passkey is asked for: to be made, to sign someone in, or to confirm who is signed in. */
export const CHALLENGE_PURPOSES = ["register", "sign_in", "confirm", "form"] as const;
export type ChallengePurpose = (typeof CHALLENGE_PURPOSES)[number];

/** What is done, as the audit names it: the operation, as /openapi-operator.json or /openapi.json has it, or what the console alone does. */
export const AUDIT_VERBS = [
	"acceptAdvice",
	"addPasskey",
	"adjust",
	"answerClaim",
	"attachConversion",
	"changeBrandEntry",
	"changeCampaignEntry",
	"changePlatformEntry",
	"changePublisherEntry",
	"changeRole",
	"declineClaim",
	"disablePerson",
	"enablePerson",
	"endSessions",
	"eraseUser",
	"grantClaim",
	"importNetwork",
	"importProducts",
	"importSellerProducts",
	"invitePerson",
	"issueKeys",
	"issuePostbackUrl",
	"issueSignInLink",
	"moveDatabase",
	"openClaim",
	"rebuildLearning",
	"reconcileStatement",
	"reconcileSums",
	"releaseConversion",
	"removePasskey",
	"replayCallbacks",
	"replayDeadLetters",
	"replayOwnCallback",
	"replayOwnCallbacks",
	"replayPostbacks",
	"replyToClaim",
	"restoreConversion",
	"revalueRates",
	"revokeKeys",
	"rotateKeys",
	"signIn",
	"testCallback",
	"undoImport",
	"viewAs",
	"voidConversion",
	"withdrawClaim",
] as const;
export type AuditVerb = (typeof AUDIT_VERBS)[number];

/** What is changed, as the audit names its kind. */
export const AUDIT_SUBJECTS = [
	"access_key",
	"address",
	"adjustment",
	"brand",
	"callback",
	"callback_secret",
	"callbacks",
	"campaign",
	"claim",
	"conversion",
	"counters",
	"database_move",
	"erasure",
	"exchange_rate",
	"feed",
	"import",
	"network",
	"operator_key",
	"person",
	"platform",
	"platform_key",
	"product",
	"publisher",
	"publisher_id",
	"publisher_identity",
	"publisher_key",
	"queue",
	"seller_product",
	"week",
] as const;
export type AuditSubject = (typeof AUDIT_SUBJECTS)[number];

/** As whom the audit has somebody: publishers do a little by themselves. */
export const AUDIT_ROLES = [...PERSON_ROLES, "publisher"] as const;

/** Credentials that are stored as hashes. */
export const KEY_KINDS = ["access_key", "publisher_key", "platform_key", "operator_key"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** Credentials that are names: no secrets, and one of each a publisher at a time. */
export const NAME_KINDS = ["publisher_id", "publisher_identity"] as const;
export type NameKind = (typeof NAME_KINDS)[number];

/** Secrets that callbacks are signed with. */
export const SIGNING_KINDS = ["callback_secret"] as const;
export type SigningKind = (typeof SIGNING_KINDS)[number];

export const CREDENTIAL_KINDS = [...KEY_KINDS, ...NAME_KINDS, ...SIGNING_KINDS] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];
