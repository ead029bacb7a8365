import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { programArgs } from '../support/programs.ts'

describeOnEachEmptyDatabase('a bot that is killed', (openUrl) => {
  async function run(url: string, notes: string, ...moment: string[]) {
    const child = spawn(process.execPath, [...programArgs('test/chat-sdk/dying-bot.ts'), url, notes, ...moment], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return await once(child, 'close')
  }

  it.each([
    ['handed', '2', '1223'],
    ['handed', '3', '1233'],
    ['stored', '1', '123'],
    ['stored', '2', '123'],
    ['stored', '3', '123'],
  ])('has been handed each event, and only that twice whose id was not stored yet: %s %s', async (...moment) => {
    const [when, number, handed] = moment
    const folder = mkdtempSync(join(tmpdir(), 'chat-bot-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [url, notes] = [await openUrl(), join(folder, 'notes')]
    expect(await run(url, notes, when, number)).toEqual([null, 'SIGKILL'])
    expect(await run(url, notes)).toEqual([0, null])
    expect(readFileSync(notes, 'utf8')).toBe(handed)
  })
})
