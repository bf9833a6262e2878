/** What approvers and operators do in the console, in one scene. */
import './console/approvals';
import './console/operating';
import { operating } from './support/operating';

afterAll(async () => (await operating()).close());
