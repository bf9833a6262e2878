import { Fields, readItems, readOptionalText, readUsd } from '../validation';
import { Refusal } from '../envelope';
import { Item, NOBODY } from './issue';
import { readMarks } from './marks';

/**
 * Reads the credit items under `name` (docs/reference/upstream.md, "Credit item"). Each needs an email or a handle. If
 * it has both, the email is used. `valueInUSD`, marked optional on /payouts/credit, is always required here, because
 * there is nothing to pay without it.
 */
export function readCreditItems(body: unknown, name: string): Item[] {
  return readItems(body, name, readCreditItem);
}

function readCreditItem(item: Fields, name: string): Item {
  const email = readOptionalText(item.email, `${name}.email`) || null;
  const twitter = readOptionalText(item.twitter, `${name}.twitter`) || null;
  if (email === null && twitter === null) throw new Refusal(`${name} must have an email or a twitter handle`);
  if (email !== null && !email.includes('@')) throw new Refusal(`${name}.email must be an e-mail address`);
  if (email === null && !twitter?.startsWith('@')) throw new Refusal(`${name}.twitter must start with @`);
  return {
    ...NOBODY,
    email,
    twitter: email === null ? twitter : null,
    ...readMarks(item, name),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
  };
}
