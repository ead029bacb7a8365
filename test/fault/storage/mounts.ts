import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small mounted file system. */
export interface Mount {
  path: string
  /** Fills the remaining space. @returns a function that frees it */
  fill(): () => void
  remove(): void
}

/** Mounts a file system of this many mebibytes. @returns `undefined` if that is not allowed */
export function mountSmall(mebibytes: number): Mount | undefined {
  const path = mkdtempSync(join(tmpdir(), 'chat-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'none', path], { stdio: 'ignore' })
  } catch {
    rmSync(path, { recursive: true })
    return undefined
  }
  return {
    path,
    fill() {
      const ballast = join(path, 'ballast')
      const file = openSync(ballast, 'w')
      try {
        for (const piece = Buffer.alloc(4096); ; ) writeSync(file, piece)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
      return () => rmSync(ballast)
    },
    remove() {
      execFileSync('umount', ['-l', path])
      rmSync(path, { recursive: true })
    },
  }
}

/** Mounts a folder at another path. @returns a function that unmounts it, even with open files */
export function bind(folder: string, path: string): () => void {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['--bind', folder, path])
  return () => execFileSync('umount', ['-l', path])
}
