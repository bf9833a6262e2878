import { CLIENT_NAME } from '../../access/clients/client-writes';
import { LIMIT_FIELDS } from '../../access/clients/limits/limit-fields';
import { mayMoveValue } from '../../access/clients/limits/safe-defaults';
import { isPersonId, isSubject, PERSON, SUBJECT } from '../../access/clients/sign-ins';
import { usdSchema } from '../../http/validation/rules/limit-properties';
import { field, Slug, SomeOf } from '../../http/validation/rules/rules';
import { OPERATION_NAMES } from '../../operations/catalogue/catalogue';
import { SCOPES } from '../../operations/catalogue/scopes';

export const NO_DAILY_CAP =
  'is required for a client that may pay or redeem. Send an amount, such as 10, or null for a client ' +
  'without a daily cap';

/** Daily cap of a new client. Required for a client that may pay or redeem. An explicit null sets none. */
export const NewDailyCap = (description: string) => {
  const { must, test } = LIMIT_FIELDS.dailyCapUsd;
  const requiredIf = ({ scopes, operations = null }: Record<string, unknown>) =>
    Array.isArray(scopes) &&
    (operations === null || Array.isArray(operations)) &&
    mayMoveValue({ scopes: scopes as string[], operations: operations as string[] | null });
  const rule = { name: 'dailyCapUsd', required: false, nullable: true, requiredIf, must, test };
  return field({ ...rule, ifMissing: NO_DAILY_CAP }, usdSchema(description));
};

export const ClientName = () =>
  Slug({
    pattern: CLIENT_NAME,
    must: 'must be 1 to 40 lowercase letters, digits, and dashes, and must not start with a dash',
    required: true,
    description: 'Immutable name of the client, which its keys contain.',
    example: 'shop',
  });

export const ClientScopes = ({ required }: { required: boolean }) =>
  SomeOf(SCOPES, { required, description: 'Scopes of its keys.' });

export const ClientOperations = () =>
  SomeOf(OPERATION_NAMES, {
    required: false,
    nullable: true,
    description: 'Operations of the client. Null allows all, including future operations.',
  });

export const KeyPerson = ({ required = false }: { required?: boolean } = {}) =>
  Slug({
    pattern: PERSON,
    test: isPersonId,
    must:
      'must be 1 to 128 letters, digits, and the characters _ . : = / -, and must not be an email address ' +
      'or phone number, because records keep it',
    required,
    description: 'ID of the owner of the key, who cannot approve their own requests.',
    example: 'ada',
  });

export const Subject = () =>
  Slug({
    pattern: SUBJECT,
    test: isSubject,
    must:
      'must be 1 to 255 letters, digits, and the characters _ . : = / | ~ -, and must not be an email ' +
      'address or phone number, because records keep it',
    required: true,
    description: 'Claim `sub` of the person at the OpenID provider, from the page of a refused sign-in.',
    example: '00u1a2b3c4',
  });
