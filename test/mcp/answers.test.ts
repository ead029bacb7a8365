import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { describeService, setUpService } from '../support/describe-service.ts'
import { callMcp, callMcpTool, mcpBody, mcpHeaders, type Rpc, readRpc, sendMcp } from '../support/mcp.ts'
import { innerState, startService, startThread } from '../support/service.ts'

const toolNames = async (service: { base_url: string }, key: string): Promise<string[]> =>
  (await callMcp(service, 'tools/list', {}, { key })).result.tools.map(({ name }: Rpc) => name)

describe('the assistant over MCP', () => {
  const puppet = createPuppet()
  describeService(
    'that applications bring',
    (url) => startService(url, { ports: { assistant: puppet.assistant } }),
    (service) => {
      let here: Awaited<ReturnType<typeof startThread>>
      let ada: string
      let grace: string
      beforeAll(async () => {
        here = await startThread(service)
        ada = (await here.ada.keys.create({ name: 'agent' })).key
        grace = (await here.grace.keys.create({ name: 'agent' })).key
      })
      const call = async (key: string, name: string, args: object) => {
        const { structuredContent, content } = await callMcpTool(service, key, name, args)
        return structuredContent ?? JSON.parse(content[0].text)
      }
      const question = (content = 'why?') => ({ parent_id: here.root.message_id, content })

      it('is asked, and its answer is awaited', async () => {
        const asking = callMcpTool(service, grace, 'ask_assistant', question())
        const answer = await puppet.asked()
        answer.say('be', 'cause', { source: { url: 'https://example.org/a', title: 'A' } }, { reasoning: 'hm' })
        answer.end()
        const { structuredContent: value, content } = await asking
        expect(value).toMatchObject({
          status: 'complete',
          content: 'because',
          finish_reason: 'stop',
          root_id: here.root.root_id,
        })
        expect(value.parts.map(({ type }: Rpc) => type)).toContain('source')
        expect(content.slice(1)).toMatchObject([
          { type: 'resource_link', uri: `chat://conversations/${here.conversation_id}/threads/${here.root.root_id}` },
          { type: 'resource_link', uri: 'https://example.org/a', name: 'A' },
        ])
        expect(await here.grace.messages.get(value.message_id)).toMatchObject({
          prompt: 'why?',
          requested_by: here.grace.id,
        })
      })

      it('writes on after the wait, and get_answer has what is there, and waits for the end', async () => {
        const asking = call(grace, 'ask_assistant', { ...question(), seconds: 1 })
        const answer = await puppet.asked()
        answer.say('half ')
        const early = await asking
        expect(early).toMatchObject({ status: 'streaming' })
        const { message_id } = early
        await vi.waitUntil(async () => (await call(ada, 'get_answer', { message_id })).content === 'half ', {
          timeout: 30_000,
        })
        const waiting = call(ada, 'get_answer', { message_id, seconds: 55 })
        await vi.waitUntil(() => service.nodes.some((node) => innerState(node).streams.hub.watch.size() === 1), {
          timeout: 30_000,
        })
        answer.say('done')
        answer.end()
        expect(await waiting).toMatchObject({ status: 'complete', content: 'half done' })
      })

      it('tells a client that wants to know how much is stored, at most four times a second', async () => {
        const params = { name: 'ask_assistant', arguments: { ...question(), seconds: 55 } }
        const begun = performance.now()
        const response = await sendMcp(service, 'tools/call', params, { key: grace, meta: { progressToken: 'p1' } })
        const answer = await puppet.asked()
        const messages: Rpc[] = []
        let said = 0
        const saying = setInterval(() => answer.say(`${said++} `), 20)
        for await (const message of readRpc(response)) {
          messages.push(message)
          if (messages.length !== 4) continue
          clearInterval(saying)
          answer.end()
        }
        const seconds = (performance.now() - begun) / 1000
        const progress = messages
          .filter(({ method }) => method === 'notifications/progress')
          .map(({ params }) => params)
        expect(progress.every(({ progressToken }) => progressToken === 'p1')).toBe(true)
        expect(progress.length).toBeLessThanOrEqual(4 * seconds + 1)
        const counts = progress.map(({ progress: count }) => count)
        expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b))
        expect(messages.at(-1)).toMatchObject({ id: 1, result: { structuredContent: { status: 'complete' } } })
      })

      it('goes on when the client closes the response', async () => {
        const closing = new AbortController()
        const params = { name: 'ask_assistant', arguments: { ...question('still there?'), seconds: 55 } }
        const response = sendMcp(service, 'tools/call', params, { key: grace, signal: closing.signal })
        const answer = await puppet.asked()
        await response
        closing.abort()
        await vi.waitUntil(() => service.nodes.every((node) => innerState(node).streams.hub.watch.size() === 0), {
          timeout: 30_000,
        })
        answer.say('yes')
        answer.end()
        await service.idle()
        const { messages } = await here.grace.threads.tree(here.root.root_id)
        expect(messages.at(-1)).toMatchObject({ prompt: 'still there?', content: 'yes', status: 'complete' })
      })

      it('is stopped by the user who asked, and by no other member', async () => {
        const asking = call(grace, 'ask_assistant', { ...question(), seconds: 55 })
        const answer = await puppet.asked()
        answer.say('so far')
        const { messages } = await here.grace.threads.tree(here.root.root_id)
        const message_id = messages.at(-1)!.id
        await here.ada.participants.add(here.conversation_id, { user_id: here.eve.id }).catch(() => {})
        const eve = (await here.eve.keys.create({ name: 'agent' })).key
        expect(await call(eve, 'stop_answer', { message_id })).toMatchObject({ code: 'forbidden' })
        expect(await call(grace, 'stop_answer', { message_id })).toEqual({ message_id, status: 'cancelled' })
        await answer.aborted
        expect(await asking).toMatchObject({ status: 'cancelled' })
        expect(await call(grace, 'stop_answer', { message_id })).toEqual({ message_id, status: 'cancelled' })
      })

      it('answers once to a repeated question with a key', async () => {
        const args = { ...question('once?'), idempotency_key: 'q1', seconds: 0 }
        const first = await call(grace, 'ask_assistant', args)
        const answer = await puppet.asked()
        expect((await call(grace, 'ask_assistant', args)).message_id).toBe(first.message_id)
        answer.end()
      })

      it('says why it has failed', async () => {
        const asking = call(grace, 'ask_assistant', question())
        ;(await puppet.asked()).fail(new Error('out of order'))
        expect(await asking).toMatchObject({ status: 'failed', failure: 'provider_error' })
      })

      it('is cut where an answer is larger than a result', async () => {
        const asking = callMcpTool(service, grace, 'ask_assistant', question())
        const answer = await puppet.asked()
        answer.say('"'.repeat(50_000), 'ü'.repeat(50_000))
        answer.end()
        const { structuredContent, content } = await asking
        expect(structuredContent.cut).toBeGreaterThan(100_000)
        expect(Buffer.byteLength(content[0].text)).toBeLessThanOrEqual(60 * 1024)
      })

      it('is not shown to outsiders', async () => {
        const { messages } = await here.grace.threads.tree(here.root.root_id)
        const mallory = await service.signIn('mallory')
        const { key } = await mallory.keys.create({ name: 'agent' })
        expect(await call(key, 'get_answer', { message_id: messages.at(-1)!.id })).toMatchObject({ code: 'not_found' })
      })

      it('is asked by a post that names it, and not by one whose token may write and not ask', async () => {
        const grace = await service.chat.users.actor(here.grace.id)
        const answersTo = async (mcp_scopes?: ('chat:write' | 'chat:ask')[]) => {
          const params = { name: 'post_message', arguments: question('@assistant, why?') }
          const request = new Request('http://localhost/agents', {
            method: 'POST',
            headers: mcpHeaders('tools/call', params),
            body: JSON.stringify(mcpBody('tools/call', params)),
          })
          const response = await service.chat.mcp.handle(request, { ...grace, ...(mcp_scopes && { mcp_scopes }) })
          return (await response.json()).result.structuredContent.answers
        }
        expect(await answersTo(['chat:write'])).toBeUndefined()
        expect(await answersTo(['chat:write', 'chat:ask'])).toMatchObject([{ assistant: 'assistant' }])
        ;(await puppet.asked()).end()
        expect(await answersTo()).toHaveLength(1)
        ;(await puppet.asked()).end()
      })

      it('needs the scope to ask', async () => {
        const { token } = await here.grace.tokens.issue({ scopes: ['read'] })
        const status = async (name: string, args: object) =>
          (await sendMcp(service, 'tools/call', { name, arguments: args }, { key: token })).status
        expect(await status('ask_assistant', question())).toBe(403)
        expect(await status('stop_answer', { message_id: here.root.message_id })).toBe(403)
        expect(await status('get_answer', { message_id: here.root.message_id })).toBe(200)
      })
    },
  )
})

describe('the tool that asks', () => {
  const plain = setUpService(() => startService('sqlite::memory:'))

  it('is there where an assistant is offered to the caller', async () => {
    const { key } = await (await plain.signIn('ada')).keys.create({ name: 'agent' })
    expect(await toolNames(plain, key)).not.toContain('ask_assistant')
    expect((await callMcp(plain, 'tools/call', { name: 'ask_assistant', arguments: {} }, { key })).error.code).toBe(
      -32602,
    )
    const offering = await startService('sqlite::memory:', { config: { assistant: { provider: 'echo' } } })
    onTestFinished(() => offering.close())
    const ada = await offering.signIn('ada')
    const writer = await ada.keys.create({ name: 'agent' })
    const reader = await (await offering.signIn('reader', ['read_only'])).keys.create({ name: 'agent' })
    expect(await toolNames(offering, writer.key)).toContain('ask_assistant')
    expect(await toolNames(offering, reader.key)).not.toContain('ask_assistant')
  })

  it('fits with all others into 20 KiB', async () => {
    const offering = await startService('sqlite::memory:', { config: { assistant: { provider: 'echo' } } })
    onTestFinished(() => offering.close())
    const { key } = await (await offering.signIn('ada')).keys.create({ name: 'agent' })
    const { result } = await callMcp(offering, 'tools/list', {}, { key })
    expect(result.tools).toHaveLength(12)
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(20 * 1024)
  })
})
