/** The pages of approvers and operators, in one scene. */
import './pages/approvals';
import './pages/operating';
import { operating } from '../support/console/operating';

afterAll(async () => (await operating()).close());
