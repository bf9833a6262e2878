import { MAGIC, MagicName } from '../magic-recipients';
import { FaultRow, FAULTS, rowOf } from './table';

/** The faults that can be requested, as the control interface lists them. */
export function faultKinds() {
  return Object.entries<FaultRow>(FAULTS).map(([fault, { does, processed, choosesProcessed, settings = {} }]) => ({
    fault,
    does,
    processed,
    choosesProcessed: choosesProcessed ?? false,
    settings: Object.entries(settings).map(([name, { byDefault, rule }]) => ({
      name,
      default: byDefault,
      must: rule.must,
    })),
  }));
}

/** The magic recipients, each with one of its phone numbers and the result of a payout to it. */
export function magicRecipients() {
  return (Object.keys(MAGIC) as MagicName[]).map((name) => {
    const row = MAGIC[name];
    return {
      name,
      phoneNumber: `+2547${row.digits}`,
      email: `${name}@sandbox.example`,
      twitter: `@sandbox_${name}`,
      does: 'does' in row ? row.does : rowOf(row.fault).does,
    };
  });
}
