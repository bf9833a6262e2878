import { ApiPropertyOptions } from '@nestjs/swagger';
import { MAX_USD, USD } from '../../access/clients/limit-fields';

/** The forms of an amount in US dollars that limits a client. */
export const USD_FORMS = [
  { type: 'number', minimum: 0, maximum: MAX_USD },
  { type: 'string', pattern: USD.source },
];

export const usdSchema = (description: string): ApiPropertyOptions => ({
  anyOf: USD_FORMS,
  description,
  example: '10.5',
});
