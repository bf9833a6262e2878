import { ArgumentMetadata, Inject, Injectable, PipeTransform } from '@nestjs/common';
import { Problem } from '../../platform/errors/problem';
import { FaultList } from './fault-list';
import { isForwarded, mayBeLeftOut } from './nothing.dto';
import { Limits, instantiate } from './instantiate';
import { findFaults, findFaultsInSteps, hasLongList } from './passes-rules';
import { addSuggestions } from './people-rules';
import { inTurns } from '../../platform/steps';
import { isObject } from '../../platform/json/is-object';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Turns bodies and queries into instances of their classes, or lists every fault in them. */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly limits: Limits;

  constructor(@Inject(SETTINGS) { maxItems, extraFieldsAllowed }: RunningConfig) {
    this.limits = { maxItems, extras: new Set(extraFieldsAllowed) };
  }

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype) return value;
    const checked = type === 'body' ? this.checkBody(value, metatype) : this.check(value, metatype, false);
    return checked instanceof Promise ? checked.then(instanceOf) : instanceOf(checked);
  }

  /**
   * Converts a body into an instance of its class, with all faults. There is no instance if the body is no object. A body
   * with a long list is checked in steps.
   */
  checkBody(value: unknown, bodyClass: new () => object): Checked | Promise<Checked> {
    return this.check(value, bodyClass, isForwarded(bodyClass.name));
  }

  /**
   * @param mayHaveExtras false for queries, and for bodies that are not forwarded, where extra fields would be lost.
   */
  private check(value: unknown, metatype: new () => object, mayHaveExtras: boolean): Checked | Promise<Checked> {
    return check(value, metatype, mayHaveExtras ? this.limits : { ...this.limits, extras: NO_FIELDS });
  }
}

interface Checked {
  instance?: object;
  found: FaultList;
}

/** @throws Problem `invalid_request` if there is a fault. */
function instanceOf({ instance, found }: Checked): object | undefined {
  if (found.total === 0) return instance;
  throw new Problem('invalid_request', { faults: found.faults, faultsTotal: found.total });
}

function check(value: unknown, metatype: new () => object, limits: Limits): Checked | Promise<Checked> {
  if (value === undefined && mayBeLeftOut(metatype)) return { instance: new metatype(), found: new FaultList() };
  if (value === undefined) return { found: faultOfAll('the body is required and must be a JSON object') };
  if (!isObject(value)) return { found: faultOfAll('the body must be a JSON object') };
  const checked = instantiate(value, metatype, limits);
  const { instance, found } = checked;
  const withSuggestions = () => {
    addSuggestions(found.faults, value);
    return checked;
  };
  if (hasLongList(instance)) return inTurns(findFaultsInSteps(instance, found)).then(withSuggestions);
  findFaults(instance, found);
  return withSuggestions();
}

function faultOfAll(detail: string): FaultList {
  const found = new FaultList();
  found.add(
    () => '',
    () => detail,
  );
  return found;
}
