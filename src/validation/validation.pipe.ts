import { ArgumentMetadata, Injectable, PipeTransform } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { Loaded } from '../config/config.module';
import { Fault, Problem } from '../errors/problem';
import { leftOut, pointerTo, toFaults } from './faults';
import { Nothing } from './nothing.dto';
import { ITEMS_PROPERTY } from './rules';

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
    if (value === undefined && metatype === Nothing) return { instance: new Nothing(), faults: [] };
    if (value === undefined) return { faults: [{ pointer: '', detail: 'a JSON object is required as the body' }] };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { faults: [{ pointer: '', detail: 'must be a JSON object' }] };
    }
    const { plain, faults } = this.withinLimit(value as Record<string, unknown>, metatype);
    const instance = plainToInstance(metatype, plain);
    const errors = validateSync(instance, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
    return { instance, faults: [...faults, ...toFaults(errors), ...leftOut(plain, instance)] };
  }

  /** Looks at the first `MAX_ITEMS` items only: a body of a hundred thousand must not cost a hundred thousand checks. */
  private withinLimit(value: Record<string, unknown>, metatype: new () => object) {
    const property = Reflect.getMetadata(ITEMS_PROPERTY, metatype) as string | undefined;
    const items = property === undefined ? undefined : value[property];
    if (property === undefined || !Array.isArray(items)) return { plain: value, faults: [] };
    const pointer = pointerTo('', property);
    const plain = { ...value, [property]: items.slice(0, this.maxItems) };
    const faults = items
      .slice(0, this.maxItems)
      .flatMap((item: unknown, index) =>
        Array.isArray(item) ? [{ pointer: pointerTo(pointer, index), detail: 'must be an object' }] : [],
      );
    if (items.length > this.maxItems) {
      faults.push({ pointer, detail: `has ${items.length} items; at most ${this.maxItems} fit in one request` });
    }
    return { plain, faults };
  }
}
