import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { createChatClient } from '../../lib/client/index.ts'
import { ChatProvider, useConversation, useMe, useThreads } from '../../lib/client/react/index.ts'
import { hasBrowser } from '../support/browser.ts'
import { bundle } from './bundle.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

const MODULES = `
  export * from './lib/client/index.ts'
  export * from './lib/client/react/index.ts'
  export { createElement } from 'react'
  export { hydrateRoot } from 'react-dom/client'`

/** What is rendered on both sides. */
const App = ({ conversation_id }: { conversation_id: string }) => {
  const { user } = useMe()
  const { status, messages } = useConversation(conversation_id)
  const { threads } = useThreads(conversation_id)
  return createElement(
    'main',
    null,
    `${user?.username}: ${status}, ${threads.length} threads`,
    ...messages.map(({ id, content }) => createElement('p', { key: id }, content)),
  )
}

/** The same in the page, which says what React had to render anew. */
const hydrate = (conversation_id: string, snapshot: unknown) => `{
  const { createElement, hydrateRoot, ChatProvider, useMe, useConversation, useThreads } = chat
  const App = ${App.toString().replaceAll(/__vite_ssr_import_\d+__\.|\(0,(\w+)\)/g, '$1')}
  window.errors = []
  const client = chat.createChatClient({ base_url: location.origin })
  const app = createElement(ChatProvider, { client, initial: ${JSON.stringify(snapshot)} }, createElement(App, { conversation_id: '${conversation_id}' }))
  hydrateRoot(document.body.firstChild, app, { onRecoverableError: (error) => errors.push(String(error)) })
}`

describe.skipIf(!hasBrowser)('a page that the server has rendered', () => {
  it('is the same in its first render, then follows, and renders nothing anew', async () => {
    const stage = await openStage({})
    const talk = await openTalk(stage.url)
    const { conversation_id, ada, grace } = talk
    await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { page } = await stage.visit(stage.url)
    await talk.signIn(page, 'ada')
    // What chat.snapshots.create returns, made of the same reads.
    const initial = {
      user: (await ada.auth.me()).user,
      messages: await ada.messages.list(conversation_id, {}),
      threads: { conversation_id, ...(await ada.threads.list(conversation_id, {})) },
    }
    const client = createChatClient({ base_url: stage.url })
    const html = renderToString(
      createElement(ChatProvider, { client, initial }, createElement(App, { conversation_id })),
    )
    expect(html).toBe('<main>ada: ready, 1 threads<p>Does it run?</p></main>')
    await page.route(/rendered$/, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<!doctype html><body><div>${html}</div></body>` }),
    )
    await page.goto(`${stage.url}/rendered`)
    await page.evaluate(await bundle(MODULES))
    await page.evaluate(`kept = document.querySelector('p')`)
    await page.evaluate(hydrate(conversation_id, initial))
    await grace.messages.postRoot(conversation_id, { content: 'It runs.' })
    await page.waitForSelector('p:text("It runs.")')
    expect(
      await page.evaluate(`[errors, kept === document.querySelector('p'), document.querySelector('main').innerHTML]`),
    ).toEqual([[], true, 'ada: ready, 2 threads<p>Does it run?</p><p>It runs.</p>'])
  })
})
