import { getMetadataStorage, ValidationTypes, ValidatorConstraintInterface } from 'class-validator';

type Class = abstract new () => object;
type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** Whether a property of an object keeps its rules. */
type Check = (object: object, value: unknown) => boolean;

interface Property {
  name: string;
  check: Check;
}

const compiled = new Map<unknown, readonly Property[]>();

/**
 * Whether class-validator finds no fault with an instance: from the rules that it has of the class, which are looked up and
 * sorted once, while class-validator does so for each object. What is wrong with one that is not sound, class-validator says;
 * it is also asked where a rule is of a kind that is not known here.
 */
export function isSound(instance: object): boolean {
  const values = instance as Record<string, unknown>;
  for (const { name, check } of propertiesOf(instance.constructor as Class)) {
    if (!check(instance, values[name])) return false;
  }
  return true;
}

function propertiesOf(type: Class): readonly Property[] {
  const known = compiled.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = [...new Set(rules.map(({ propertyName }) => propertyName))];
  const properties = names.map((name) => ({
    name,
    check: compile(rules.filter((rule) => rule.propertyName === name)),
  }));
  compiled.set(type, properties);
  return properties;
}

function compile(rules: Metadata[]): Check {
  const ofType = (type: string) => rules.filter((rule) => rule.type === type);
  const conditions = ofType(ValidationTypes.CONDITIONAL_VALIDATION).map((rule) => rule.constraints[0] as Check);
  const nested = ofType(ValidationTypes.NESTED_VALIDATION);
  const custom = ofType(ValidationTypes.CUSTOM_VALIDATION);
  const isKnown = conditions.length + nested.length + custom.length === rules.length;
  if (!isKnown || custom.some(({ each, validateIf }) => each || validateIf !== undefined)) return () => false;
  const checks = [...custom.map(toCheck), ...(nested.length > 0 ? [isSoundInside] : [])];
  return (object, value) =>
    !conditions.every((holds) => holds(object, value)) || checks.every((check) => check(object, value));
}

function toCheck({ constraintCls, propertyName: property, constraints }: Metadata): Check {
  const validators = getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance }) => instance);
  return (object, value) => {
    const about = { targetName: object.constructor.name, property, object, value, constraints };
    // A promise is not `true`: what takes time to judge is left to class-validator.
    return validators.every((validator: ValidatorConstraintInterface) => validator.validate(value, about) === true);
  };
}

/** Of an instance, or a list of them; null is neither. */
function isSoundInside(_object: object, value: unknown): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.every((element) => isSoundInside(value, element));
  return typeof value === 'object' && value !== null && isSound(value);
}
