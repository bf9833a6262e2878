/** The types of the API, generated from openapi.json by `npm run build`. */
export type * from '../../console/src/api/generated/schema';
