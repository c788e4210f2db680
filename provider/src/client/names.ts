/**
 * What the names in an answer say of the text under them, in the spellings that services use (`error_code`, `errorCode`,
 * `error-code`). Pure.
 */

const NAMES = {
  /** Under these stands what an answer has to say, a single word as well. */
  message:
    namesOf(`message messages msg msgs messagetext text detail details error errors err errormessage errormessages
    errormsg errordescription errordetail errordetails errortext errorstring description reason reasons title
    nonfielderrors globalerrors fielderrors validationerrors formerrors warning warnings fault faultstring faultmessage
    violations problem problems issue issues invalidparams summary explanation payload`),
  /** Below these stands what is wrong, under whatever names. */
  errors: namesOf(`errors error err messages details detail reasons fault nonfielderrors globalerrors fielderrors
    validationerrors formerrors warnings violations problems issues invalidparams`),
  /** Says nothing of what the text under it is about, so it is left out in front of a sentence. */
  wrapper: namesOf("data result results response body content envelope exception fields extensions meta info"),
  code: namesOf("code errorcode errcode errorcodes faultcode reasoncode statuscode"),
  flag: namesOf("success successful ok status result state outcome"),
  /** Whoever it belongs to: such a record is not what the answer has to say. */
  person: namesOf("user users owner customer contact person profile createdby updatedby modifiedby"),
  /** Beside a message these say where, of what sort or in which language, and nothing by themselves. */
  aside: namesOf("loc path pointer type kind class domain location lang language locale"),
};

const FLAG_VALUE = /^(true|false|yes|no|0|1|n?ok|ko|success(ful)?|unsuccessful|err(or)?|fail(ed|ure)?)$/i;

const SECRET_PART =
  /passw|passphrase|passcode|pwd|secret|token|cookie|session|sess_?id|credential|authoriz|csrf|xsrf|jwt|bearer|(api|access|private|signing|encryption|account|client)[-_ ]?key/i;
/** These only as words of their own: an author is none. */
const SECRET_WORDS = /pass|auth|private|sid|pin|otp|sig/i;
const SECRET_WORD = /^(pass|auth|authentication|private|sid|pin|otp|sig|signature)$/i;

/** Whether what stands under this name may be secret, even where it reads like a sentence. */
export function isSecretName(name: string): boolean {
  if (SECRET_PART.test(name)) return true;
  if (!SECRET_WORDS.test(name)) return false;
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").split(/[^\p{L}\p{N}]+/u);
  return words.some((word) => SECRET_WORD.test(word));
}

export function isNamed(name: string, ...sorts: (keyof typeof NAMES)[]): boolean {
  const plain = folded(name);
  return sorts.some((sort) => NAMES[sort].has(plain));
}

/** Whether it just says that it went well or did not. */
export function isStatusFlag(name: string, text: string): boolean {
  return isNamed(name, "flag") ? FLAG_VALUE.test(text) : /^error$/i.test(name) && /^(true|false)$/i.test(text);
}

function namesOf(names: string): ReadonlySet<string> {
  return new Set(names.split(/\s+/));
}

function folded(name: string): string {
  return name.length > 60 ? "" : name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
