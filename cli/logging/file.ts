import { fstatSync, writeSync } from 'node:fs'
import type { LogStream } from './sink.ts'

/** Standard error, for a log. Node's own stream of a file ends for good at the first write for which a disk has no room. */
export function standardError(): LogStream {
  const { fd } = process.stderr
  return fstatSync(fd).isFile() ? fileStream(fd) : process.stderr
}

/** A file that takes as much as its disk has room for. */
export function fileStream(fd: number): LogStream {
  return {
    write: (text) => writeSync(fd, text),
    writeSome(bytes) {
      let written = 0
      try {
        while (written < bytes.length) written += writeSync(fd, bytes, written)
      } catch {
        // The disk is full: the sink counts what is missing, and logs it when there is room.
      }
      return written
    },
  }
}
