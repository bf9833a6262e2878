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

/** The request could be read, and breaks the rules of its class. */
export class InvalidInput extends Problem {
  constructor(readonly found: FaultList) {
    super('invalid_request', { faults: found.faults, faultsTotal: found.total });
  }
}

/** The one pipe: turns bodies and queries into instances of their classes, or lists every fault they have. */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly limits: Limits;

  constructor(config: ConfigService<Loaded, true>) {
    const { maxItems, extraFieldsAllowed } = config.get('settings', { infer: true });
    this.limits = { maxItems, extras: new Set(extraFieldsAllowed) };
  }

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype) return value;
    // A query says all it can by its fields; and where no body is forwarded, an extra field would get lost.
    const mayHaveExtras = type === 'body' && isForwarded(metatype.name);
    const limits = mayHaveExtras ? this.limits : { ...this.limits, extras: NO_FIELDS };
    const { instance, found } = check(value, metatype, limits);
    if (found.total === 0) return instance;
    throw new InvalidInput(found);
  }
}

function check(value: unknown, metatype: new () => object, limits: Limits): { instance?: object; found: FaultList } {
  if (value === undefined && mayBeLeftOut(metatype)) return { instance: new metatype(), found: new FaultList() };
  if (value === undefined) return { found: faultOfAll('a JSON object is required as the body') };
  if (!isPlainObject(value)) return { found: faultOfAll('the body must be a JSON object') };
  const sifted = instantiate(value, metatype, limits);
  findFaults(sifted.instance, sifted.found);
  return sifted;
}

function faultOfAll(detail: string): FaultList {
  const found = new FaultList();
  found.add(
    () => '',
    () => detail,
  );
  return found;
}
