import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandOf, folder, run } from './process.ts'

const strace = spawnSync('strace', ['--version']).status === 0

it.skipIf(!strace)('a backup and an export need no hard links (strace)', { timeout: 120_000 }, async () => {
  const cwd = folder()
  const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }
  await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: 'correct horse battery' })
  const withoutLinks = (...args: string[]) => {
    const fault = ['-f', '-qq', '-o', 'trace', '-e', 'trace=link,linkat', '-e', 'inject=link,linkat:error=EPERM']
    const { status, stderr } = spawnSync('strace', [...fault, ...commandOf(args)], { cwd, encoding: 'utf8' })
    expect(readFileSync(join(cwd, 'trace'), 'utf8')).toContain('EPERM')
    return [status, stderr]
  }
  for (const command of ['backup', 'export']) {
    expect(withoutLinks(command, 'out')).toEqual([0, ''])
    expect(statSync(join(cwd, 'out')).mode & 0o777).toBe(0o600)
    writeFileSync(join(cwd, 'out'), 'precious')
    const again = await run([command, 'out'], { cwd })
    expect([again.code, again.stderr]).toEqual([1, 'chat-server: out already exists; --force replaces it\n'])
    expect(readFileSync(join(cwd, 'out'), 'utf8')).toBe('precious')
    expect((await run([command, 'out', '--force'], { cwd })).code).toBe(0)
    expect(existsSync(join(cwd, 'out.partial'))).toBe(false)
    const digest = command === 'backup' ? ['out.sha256'] : []
    expect(readdirSync(cwd).sort()).toEqual(['data', 'out', ...digest, 'trace'])
    for (const name of ['out', ...digest]) rmSync(join(cwd, name))
  }
})
