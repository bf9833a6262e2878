/** The pages of one call, in one scene. */
import './pages/verification';
import './pages/call';
import './pages/call-proof';
import { callTimelines } from '../support/reconciliation/call-timelines';

afterAll(async () => (await callTimelines()).close());
