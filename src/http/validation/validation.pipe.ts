import { ArgumentMetadata, Injectable, PipeTransform } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../../platform/config/config.module';
import { Problem } from '../../platform/errors/problem';
import { FaultList } from './fault-list';
import { isPlainObject } from './json-body';
import { isForwarded, mayBeLeftOut } from './nothing.dto';
import { Limits, instantiate } from './instantiate';
import { findFaults } from './passes-rules';

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Turns bodies and queries into instances of their classes, or lists every fault in them. */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly limits: Limits;

  constructor(config: ConfigService<Loaded, true>) {
    const { maxItems, extraFieldsAllowed } = config.get('settings', { infer: true });
    this.limits = { maxItems, extras: new Set(extraFieldsAllowed) };
  }

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype) return value;
    const { instance, found } = type === 'body' ? this.checkBody(value, metatype) : this.check(value, metatype, false);
    if (found.total === 0) return instance;
    throw new Problem('invalid_request', { faults: found.faults, faultsTotal: found.total });
  }

  /** Converts a body into an instance of its class, with all faults. There is no instance if the body is no object. */
  checkBody(value: unknown, bodyClass: new () => object): Checked {
    return this.check(value, bodyClass, isForwarded(bodyClass.name));
  }

  /**
   * @param mayHaveExtras false for queries, and for bodies that are not forwarded, where extra fields would be lost.
   */
  private check(value: unknown, metatype: new () => object, mayHaveExtras: boolean): Checked {
    return check(value, metatype, mayHaveExtras ? this.limits : { ...this.limits, extras: NO_FIELDS });
  }
}

interface Checked {
  instance?: object;
  found: FaultList;
}

function check(value: unknown, metatype: new () => object, limits: Limits): Checked {
  if (value === undefined && mayBeLeftOut(metatype)) return { instance: new metatype(), found: new FaultList() };
  if (value === undefined) return { found: faultOfAll('the body is required and must be a JSON object') };
  if (!isPlainObject(value)) return { found: faultOfAll('the body must be a JSON object') };
  const checked = instantiate(value, metatype, limits);
  findFaults(checked.instance, checked.found);
  return checked;
}

function faultOfAll(detail: string): FaultList {
  const found = new FaultList();
  found.add(
    () => '',
    () => detail,
  );
  return found;
}
