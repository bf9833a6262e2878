import { Injectable } from '@nestjs/common';

/** Tells the processes that share a database apart, and who of them lives. */
@Injectable()
export class ProcessService {
  /** Of this process; it holds the advisory lock (7070003, number) for as long as it lives. */
  number = 0;
}
