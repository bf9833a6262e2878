import type * as staff from '../../../console/src/api/generated/schema';
/** The types of the API, generated from its two documents by `npm run build`. */
import type * as apps from '../../../packages/sdk/src/generated/schema';

export type * from '../../../console/src/api/generated/schema';

export type paths = apps.paths & staff.paths;
export type operations = apps.operations & staff.operations;

type AppSchemas = apps.components['schemas'];
export type AnyEnvelope = AppSchemas['AnyEnvelope'];
export type ErrorEnvelope = AppSchemas['ErrorEnvelope'];
export type FullCallRecord = AppSchemas['FullCallRecord'];
export type Preview = AppSchemas['Preview'];
