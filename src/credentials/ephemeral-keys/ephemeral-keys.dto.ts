import { LIMIT_FIELDS, MAX_WORDS } from '../../access/clients/limits/limit-fields';
import { isPersonId, PERSON } from '../../access/clients/sign-ins';
import { LONGEST_SECONDS } from '../../access/ephemeral/ephemeral-keys.service';
import { EPHEMERAL_KEY_STATES, EphemeralKeyState } from '../../access/ephemeral/state';
import { usdSchema } from '../../http/validation/rules/limit-properties';
import { PageSize, PageToken } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Slug, SomeOf, WordList } from '../../http/validation/rules/rules';
import { OPERATION_NAMES } from '../../operations/catalogue/catalogue';
import { described, INSTANT, INTEGER, nullable, TEXT, USD, UUID } from '../../platform/schema/fields';
import { LONG_PAGE, nextPageToken, PageRequest } from '../../platform/schema/page';

const MAX_RECIPIENTS = 100;
const MAX_LENGTH = 320;

const Actor = (required: boolean, description: string) =>
  Slug({
    pattern: PERSON,
    test: isPersonId,
    must:
      'must be 1 to 128 letters, digits, and the characters _ . : = / -, ' +
      'and must not be an email address or phone number',
    required,
    description,
    example: 'ada',
  });

const Amount = (description: string) => {
  const { must, test } = LIMIT_FIELDS.maxItemUsd;
  return field({ required: true, must, test }, usdSchema(description));
};

const Words = (max: number, isWord: (word: string) => boolean, must: string, schema: object) =>
  WordList(
    {
      required: false,
      must: `must be a list of 1 to ${max} ${must}`,
      test: (value) =>
        Array.isArray(value) &&
        value.length > 0 &&
        value.length <= max &&
        value.every((word) => typeof word === 'string' && isWord(word)),
    },
    { items: { type: 'string' }, minItems: 1, maxItems: max, ...schema },
  );

@NotForwarded()
export class NewEphemeralKeyDto {
  @Actor(true, "The person of the key and of its calls, by your app's own ID.")
  actor!: string;

  @SomeOf(OPERATION_NAMES, { required: true, description: 'Allowed operations.' })
  operations!: string[];

  @Words(MAX_WORDS, (word) => LIMIT_FIELDS.countries.test([word]), 'names of countries, such as Kenya', {
    description: 'Allowed countries. Omit it to allow those of your client.',
    example: ['Kenya'],
  })
  countries?: string[];

  @Words(MAX_RECIPIENTS, (word) => word.length <= MAX_LENGTH, `texts of at most ${MAX_LENGTH} characters`, {
    description:
      'Allowed recipients: email addresses, phone numbers, handles, or `receiver:` and the ID of a ' +
      'sub-account. Omit it to allow any. They are stored as hashes.',
    example: ['+254712345678'],
  })
  recipients?: string[];

  @Amount('Limit per item in US dollars.') max_item!: number | string;

  @Amount('Limit of all payments with the key in US dollars, with expected fees.')
  max_total!: number | string;

  @field(
    {
      required: true,
      must: `must be a whole number of seconds from 1 to ${LONGEST_SECONDS}`,
      test: (value) =>
        Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LONGEST_SECONDS,
    },
    {
      type: 'integer',
      minimum: 1,
      maximum: LONGEST_SECONDS,
      description: 'Lifetime in seconds.',
      example: 600,
    },
  )
  expires_in!: number;
}

export class EphemeralKeySearch implements PageRequest {
  @Actor(false, 'Only keys of this person.') actor?: string;
  @PageSize(LONG_PAGE) page_size?: number;
  @PageToken() page_token?: string;
}

export class EphemeralKeysOf {
  @Actor(true, 'The person of the keys.') actor!: string;
}

export class EphemeralKeyDto {
  @described(UUID, 'ID of the key.') id!: string;
  @nullable(TEXT, 'The person. Null after an erasure.') actor!: string | null;
  @described({ ...TEXT, example: 'ppe_shop_…x7Qa' }, 'Beginning and end of the key.') hint!: string;
  @described({ enum: EPHEMERAL_KEY_STATES }, '`revoked` also after the revocation of its parent key.')
  state!: EphemeralKeyState;
  @described({ type: [String] }, 'Allowed operations.') operations!: string[];
  @described({ type: [String] }, 'Allowed countries. An empty list allows those of your client.')
  countries!: string[];
  @nullable(INTEGER, 'Number of allowed recipients. Null allows any.') recipient_count!: number | null;
  @described(USD, 'Limit per item in US dollars.') max_item_usd!: string;
  @described(USD, 'Limit of all payments in US dollars.') max_total_usd!: string;
  @described(USD, 'Amount spent or reserved with it.') spent_usd!: string;
  @described(INSTANT, 'Time of issue.') created_at!: Date;
  @described(INSTANT, 'Time of expiry.') expires_at!: Date;
  @nullable(INSTANT, 'Time of its own revocation. Null without one.') revoked_at!: Date | null;
}

export class IssuedEphemeralKeyDto extends EphemeralKeyDto {
  @described(TEXT, 'The key. It is shown only once.') key!: string;
}

export class EphemeralKeyPage {
  @described({ type: [EphemeralKeyDto] }, 'Newest first.') ephemeral_keys!: EphemeralKeyDto[];
  @nextPageToken() next_page_token!: string | null;
}

export class RevokedEphemeralKeysDto {
  @described({ type: [String] }, 'IDs of the revoked keys. Omits keys that had ended before.')
  revoked!: string[];
}
