import { ArgumentMetadata, Injectable, PipeTransform } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { Loaded } from '../config/config.module';
import { Fault, Problem } from '../errors/problem';
import { toFaults } from './faults';
import { mayBeLeftOut } from './nothing.dto';
import { isPlainObject, sift } from './sift';

/** The one pipe: turns bodies and queries into instances of their classes, or lists every fault they have. */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly maxItems: number;

  constructor(config: ConfigService<Loaded, true>) {
    this.maxItems = config.get('settings', { infer: true }).maxItems;
  }

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype) return value;
    const { instance, faults } = this.check(value, metatype);
    if (faults.length === 0) return instance;
    throw new Problem('invalid_request', { faults });
  }

  private check(value: unknown, metatype: new () => object): { instance?: object; faults: Fault[] } {
    if (value === undefined && mayBeLeftOut(metatype)) return { instance: new metatype(), faults: [] };
    if (value === undefined) return { faults: [{ pointer: '', detail: 'a JSON object is required as the body' }] };
    if (!isPlainObject(value)) return { faults: [{ pointer: '', detail: 'the body must be a JSON object' }] };
    const { known, free, faults } = sift(value, metatype, this.maxItems);
    const instance = Object.assign(plainToInstance(metatype, known), free);
    const errors = validateSync(instance, { forbidUnknownValues: false }); // `Nothing` has no rules
    return { instance, faults: [...faults, ...toFaults(errors)] };
  }
}
