import { check, flag, integer, isObject, number, oneOf, Rule } from '../rules';
import { AskedFault, defaultFault } from './faults';
import { FAULTS, FaultSettings, isFaultName, rowOf } from './table';

const LARGEST_SEED = 2 ** 32 - 1;

/** Returns the requested fault. Undefined if the request is invalid. `faults` then lists everything that is wrong. */
export function readFault(given: unknown, operations: string[], faults: string[]): AskedFault | undefined {
  if (!isObject(given) || !isFaultName(given.fault)) {
    faults.push(`fault must be ${oneOf(...Object.keys(FAULTS)).must}`);
    return undefined;
  }
  const { fault, operation, nth, probability, seed, processed, ...settings } = given;
  const row = rowOf(fault);
  const settingRules = Object.entries(row.settings ?? {}).map(([name, { rule }]): [string, Rule] => [name, rule]);
  const rules: Record<string, Rule> = {
    fault: oneOf(fault),
    operation: oneOf(...operations),
    nth: integer(1, Number.MAX_SAFE_INTEGER),
    probability: number(0, 1),
    seed: integer(0, LARGEST_SEED),
    processed: row.choosesProcessed ? flag : fixed(row.processed),
    ...Object.fromEntries(settingRules),
  };
  check(given, rules, faults);
  if (nth !== undefined && probability !== undefined) faults.push('nth and probability exclude each other');
  if (seed !== undefined && probability === undefined) faults.push('seed is of use with probability only');
  if (faults.length > 0) return undefined;

  const byDefault = defaultFault(fault);
  return {
    fault,
    operation: (operation as string | undefined) ?? null,
    ...(nth !== undefined && { nth: nth as number }),
    ...(probability !== undefined && { probability: probability as number }),
    ...(seed !== undefined && { seed: seed as number }),
    processed: (processed as boolean | undefined) ?? byDefault.processed,
    settings: { ...byDefault.settings, ...(settings as FaultSettings) },
  };
}

function fixed(value: boolean): Rule {
  return { holds: (given) => given === value, must: `${value} or left out: this fault is nothing without it` };
}
