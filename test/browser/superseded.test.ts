import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { bundle } from './bundle.ts'
import { openStage } from './people.ts'
import { weigh } from './weigh.ts'

const MODULES = `
  export { Component, h, render } from 'preact'
  export { forgetSuperseded } from './examples/web-chat/src/parts/superseded.ts'`

const RENDERS = 60

/**
 * A screen inside of an element that is never rendered again, and two parts of which one changes at a time: what one of
 * them keeps from before leads to the render in which the other one changed. `mark` is in each render.
 */
const APP = `{
  const { Component, h, render } = chat
  window.renders = []
  class Part extends Component {
    shouldComponentUpdate(next) { return next.value !== this.props.value }
    render() { return h('div', null, h('span', null, this.props.value)) }
  }
  class Screen extends Component {
    state = { n: 0 }
    componentDidMount() { window.next = () => this.setState({ n: this.state.n + 1 }) }
    render() {
      const { n } = this.state
      const mark = { n }
      renders.push(new WeakRef(mark))
      return h('main', null, h(Part, { value: 'a' + (n >> 1), mark }), h(Part, { value: 'b' + ((n + 1) >> 1), mark }))
    }
  }
  render(h(({ children }) => children, null, h(Screen)), document.body)
}`

const RENDER = `(async () => {
  for (let n = 0; n < ${RENDERS}; n++) {
    next()
    await new Promise((resolve) => setTimeout(resolve))
  }
})()`

describe.skipIf(!hasBrowser)('what was rendered before', () => {
  it.each([
    ['is kept by Preact', false],
    ['is forgotten by the page', true],
  ])(
    '%s',
    async (_, forgets) => {
      const { url, visit, problems } = await openStage({})
      const { page, context } = await visit(url)
      await page.evaluate(await bundle(MODULES))
      if (forgets) await page.evaluate('chat.forgetSuperseded()')
      await page.evaluate(APP)
      await page.evaluate(RENDER)
      expect(await page.evaluate('document.querySelector("main").textContent')).toBe('a30b30')
      await weigh(context, page)
      const kept = (await page.evaluate('renders.filter((render) => render.deref()).length')) as number
      if (forgets) expect(kept).toBeLessThan(5)
      // Where this fails, Preact needs no help any more.
      else expect(kept).toBeGreaterThan(RENDERS / 2)
      expect(problems).toEqual([])
    },
    120_000,
  )
})
