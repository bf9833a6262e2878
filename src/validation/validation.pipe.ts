import { ArgumentMetadata, Injectable, PipeTransform } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { validateSync } from 'class-validator';
import { Loaded } from '../config/config.module';
import { Fault, Problem } from '../errors/problem';
import { toFaults } from './faults';
import { isPlainObject } from './json-body';
import { isForwarded, mayBeLeftOut } from './nothing.dto';
import { Limits, sift } from './sift';
import { isSound } from './sound';

const NO_FIELDS: ReadonlySet<string> = new Set();

/** The request could be read, and breaks the rules of its class. */
export class InvalidInput extends Problem {
  constructor(faults: Fault[]) {
    super('invalid_request', { faults });
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
    const { instance, faults } = check(value, metatype, limits);
    if (faults.length === 0) return instance;
    throw new InvalidInput(faults);
  }
}

function check(value: unknown, metatype: new () => object, limits: Limits): { instance?: object; faults: Fault[] } {
  if (value === undefined && mayBeLeftOut(metatype)) return { instance: new metatype(), faults: [] };
  if (value === undefined) return { faults: [{ pointer: '', detail: 'a JSON object is required as the body' }] };
  if (!isPlainObject(value)) return { faults: [{ pointer: '', detail: 'the body must be a JSON object' }] };
  const { instance, faults } = sift(value, metatype, limits);
  const errors = isSound(instance) ? [] : validateSync(instance, { forbidUnknownValues: false }); // `Nothing` has no rules
  return { instance, faults: [...faults, ...toFaults(errors)] };
}
