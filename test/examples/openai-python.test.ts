import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { startBalancer } from '../fault/balancer.ts'
import { createPuppet } from '../support/assistant.ts'
import { createSqliteFile } from '../support/databases.ts'
import { startService } from '../support/service.ts'

const PYTHON = process.env.OPENAI_PYTHON ?? 'python3'
const PROGRAM = 'examples/openai-python/background.py'

/** Why the program cannot run here, if it cannot. */
function findObstacle(): string | undefined {
  const { status } = spawnSync(PYTHON, ['-c', 'import openai'])
  if (status === 0) return undefined
  return status === null
    ? 'needs Python'
    : 'needs a Python with the SDK: pip install openai, or its path as OPENAI_PYTHON'
}

it('the program in Python asks in the background, and another process reads on beyond a server that stops', async ({
  skip,
}) => {
  const obstacle = findObstacle()
  if (obstacle) skip(obstacle)
  const puppet = createPuppet()
  const database = await createSqliteFile()
  onTestFinished(database.remove)
  const startNode = async () => {
    const service = await startService(database.url, {
      config: { features: { openai_api: true }, assistant: { drain_seconds: 60 } },
      ports: { assistant: puppet.assistant },
    })
    onTestFinished(() => service.close())
    await balancer.add(Number(new URL(service.base_url).port))
    return service
  }
  const balancer = await startBalancer()
  onTestFinished(() => balancer.close())
  const first = await startNode()
  const { key } = await (await first.signIn('ada')).keys.create({ name: 'sdk' })
  const env = { ...process.env, OPENAI_BASE_URL: `${balancer.base_url}/v1`, OPENAI_API_KEY: key }
  const run = (...args: string[]) => promisify(execFile)(PYTHON, [PROGRAM, ...args], { env, timeout: 60_000 })

  const asking = run('ask', 'Why?')
  const answer = await puppet.asked()
  expect(answer.request.turns.at(-1)).toMatchObject({ role: 'user', content: 'Why?' })
  answer.say('Because ')
  const { stdout } = await asking
  const [, id, number] = /^Because \nIt goes on: python \S+ resume (resp_\w+) (\d+)\n$/.exec(stdout)!

  const resuming = run('resume', id!, number!)
  const { stdout: text } = resuming.child
  answer.say('it ')
  await new Promise((resolve) => text!.once('data', resolve))
  await startNode()
  first.chat.drain()
  answer.say('does.')
  answer.end()
  expect((await resuming).stdout).toBe('it does.\ncompleted\n')
})
