/** Rule for the value of a setting, from the control interface or the environment. */
export interface Rule {
  holds(value: unknown): boolean;
  /** Completion of "… must be". */
  must: string;
}

export function integer(min: number, max: number): Rule {
  return {
    holds: (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
    must: `a whole number from ${min} to ${max}`,
  };
}

export function number(min: number, max: number): Rule {
  return {
    holds: (value) => typeof value === 'number' && value >= min && value <= max,
    must: `a number from ${min} to ${max}`,
  };
}

export function oneOf(...values: (string | number)[]): Rule {
  return { holds: (value) => values.includes(value as string), must: `one of ${values.join(', ')}` };
}

export const flag: Rule = { holds: (value) => typeof value === 'boolean', must: 'true or false' };

export const anObject: Rule = { holds: isObject, must: 'an object' };

export const webAddress: Rule = {
  holds: (value) =>
    value === '' || (typeof value === 'string' && /^https?:\/\/./.test(value) && URL.canParse(value)),
  must: 'an http:// or https:// address, or empty',
};

export const trimmedText: Rule = {
  holds: (value) => typeof value === 'string' && value !== '' && value.trim() === value,
  must: 'a text without blanks around it',
};

export function orNull(rule: Rule): Rule {
  return { holds: (value) => value === null || rule.holds(value), must: `${rule.must} or null` };
}

export function arrayOf(words: readonly string[]): Rule {
  return {
    holds: (value) => Array.isArray(value) && value.every((word) => words.includes(word as string)),
    must: `an array of any of ${words.join(', ')}`,
  };
}

/** Adds a fault for each field of `fields` with an unknown name or a value that breaks its rule. */
export function check(fields: object, rules: Record<string, Rule>, faults: string[], prefix = ''): void {
  for (const [name, value] of Object.entries(fields)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) faults.push(`${prefix}${name} is unknown; the fields are ${Object.keys(rules).join(', ')}`);
    else if (!rule.holds(value)) faults.push(`${prefix}${name} must be ${rule.must}`);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
