/** The frame around all pages of the console, and its first page, in one scene. */
import './pages/overview';
import './pages/frame';
import { consoleScene } from '../support/console/console-scene';

afterAll(async () => (await consoleScene()).close());
