/** What the console shows and verifies of one call, in one scene. */
import './console/verification';
import './console/call';
import { callStories } from './support/call-stories';

afterAll(async () => (await callStories()).close());
