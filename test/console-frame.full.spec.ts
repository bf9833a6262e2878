/** The frame around all pages of the console, and its first page, in one scene. */
import './console/overview';
import './console/frame';
import { consoleScene } from './support/console-scene';

afterAll(async () => (await consoleScene()).close());
