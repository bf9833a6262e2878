/** What approvers and operators do in the console, in one scene. */
import './pages/approvals';
import './pages/operating';
import { operating } from '../support/console/operating';

afterAll(async () => (await operating()).close());
