import { getMetadataStorage, validateSync, ValidationArguments, ValidationTypes } from 'class-validator';
import { runAtOnce, CooperativeTask } from '../../platform/cooperative-task';
import { FaultList, pointerTo, toFaults } from './faults';

type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** Returns whether a rule applies to a property of an object. */
type Condition = (object: object, value: unknown) => boolean;

interface Rule {
  isKept: Condition;
  /** Returns the fault, in class-validator's words. */
  message: (object: object, value: unknown) => string;
}

interface Property {
  name: string;
  /** False for a property with an unknown kind of rule. class-validator checks its class instead. */
  isKnown: boolean;
  conditions: Condition[];
  rules: Rule[];
  /** The message for a value without rules. Present if the value of the property must have its own. */
  nested: string | undefined;
}

/** Items checked in one step. An email address takes up to twenty microseconds, and most fields one. */
const ITEMS_OF_STEP = 100;

const compiled = new Map<unknown, readonly Property[]>();

/**
 * Returns whether class-validator would find no fault in an instance. Collects class-validator's rules for
 * each class, and not for each object. Returns false for unknown kinds of rules.
 */
export function passesRules(instance: object): boolean {
  const values = instance as Record<string, unknown>;
  for (const { name, isKnown, conditions, rules, nested } of propertiesOf(instance)) {
    const value = values[name];
    if (!isKnown) return false;
    if (!holds(conditions, instance, value)) continue;
    for (const { isKept } of rules) if (!isKept(instance, value)) return false;
    if (nested !== undefined && !isSoundInside(value)) return false;
  }
  return true;
}

/** Adds every fault that class-validator would find in an instance, in its words and order. */
export function findFaults(instance: object, found: FaultList): void {
  if (!passesRules(instance)) runAtOnce(findIn(instance, () => '', found));
}

/** Does the same in steps, for an instance with a long list. */
export function findFaultsInSteps(instance: object, found: FaultList): CooperativeTask {
  return findIn(instance, () => '', found);
}

/** Returns whether checking an instance takes more than a step. */
export function hasLongList(instance: object): boolean {
  return Object.values(instance).some((value) => Array.isArray(value) && value.length > ITEMS_OF_STEP);
}

function* findIn(instance: object, pointer: () => string, found: FaultList): CooperativeTask {
  const properties = propertiesOf(instance);
  if (!properties.every(({ isKnown }) => isKnown)) return askClassValidator(instance, pointer, found);
  for (const { name, conditions, rules, nested } of properties) {
    const value = (instance as Record<string, unknown>)[name];
    if (!holds(conditions, instance, value)) continue;
    const pointerOfField = () => pointerTo(pointer(), name);
    for (const { isKept, message } of rules) {
      if (!isKept(instance, value)) found.add(pointerOfField, () => message(instance, value));
    }
    if (nested !== undefined) yield* findInside(value, pointerOfField, nested, found);
  }
}

function* findInside(
  value: unknown,
  pointer: () => string,
  message: string,
  found: FaultList,
): CooperativeTask {
  if (value === undefined) return;
  if (Array.isArray(value)) {
    for (const [place, element] of value.entries()) {
      const pointerOfElement = () => pointerTo(pointer(), place);
      found.inItem(place, () => runAtOnce(findInside(element, pointerOfElement, message, found)));
      if ((place + 1) % ITEMS_OF_STEP === 0) yield;
    }
  } else if (typeof value === 'object' && value !== null) {
    if (!passesRules(value)) yield* findIn(value, pointer, found);
  } else {
    found.add(pointer, () => message);
  }
}

function askClassValidator(instance: object, pointer: () => string, found: FaultList): void {
  for (const fault of toFaults(validateSync(instance, { forbidUnknownValues: false }))) {
    const own = () => fault.detail;
    found.add(() => pointer() + fault.pointer, own);
  }
}

function holds(conditions: Condition[], object: object, value: unknown): boolean {
  for (const condition of conditions) if (!condition(object, value)) return false;
  return true;
}

function propertiesOf({ constructor }: object): readonly Property[] {
  const known = compiled.get(constructor);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(constructor, '', false, false);
  const names = [...new Set(rules.map(({ propertyName }) => propertyName))];
  const properties = names.map((name) =>
    compile(
      name,
      rules.filter((rule) => rule.propertyName === name),
    ),
  );
  compiled.set(constructor, properties);
  return properties;
}

function compile(name: string, rules: Metadata[]): Property {
  const ofType = (type: string) => rules.filter((rule) => rule.type === type);
  const conditions = ofType(ValidationTypes.CONDITIONAL_VALIDATION).map(
    (rule) => rule.constraints[0] as Condition,
  );
  const nested = ofType(ValidationTypes.NESTED_VALIDATION);
  const custom = ofType(ValidationTypes.CUSTOM_VALIDATION);
  const isKnown =
    conditions.length + nested.length + custom.length === rules.length &&
    !custom.some(({ each, validateIf }) => each || validateIf !== undefined) &&
    nested.every(({ message }) => typeof message === 'string');
  return {
    name,
    isKnown,
    conditions,
    rules: custom.flatMap(toRules),
    nested: nested[0] && String(nested[0].message),
  };
}

function toRules({ constraintCls, propertyName: property, constraints, message }: Metadata): Rule[] {
  return getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance }) => {
      const validator = instance;
      const about = (object: object, value: unknown): ValidationArguments => ({
        targetName: object.constructor.name,
        property,
        object,
        value,
        constraints: constraints as unknown[],
      });
      return {
        // A promise is not `true`, so asynchronous rules are left to class-validator.
        isKept: (object, value) => validator.validate(value, about(object, value)) === true,
        message: (object, value) =>
          typeof message === 'string'
            ? message
            : (validator.defaultMessage?.(about(object, value)) ?? 'is wrong'),
      };
    });
}

/** Checks an instance or a list of instances. Null is neither. */
function isSoundInside(value: unknown): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.every(isSoundInside);
  return typeof value === 'object' && value !== null && passesRules(value);
}
