import { docsTexts } from '../texts/settings.ts'
import type { CsrfNames } from './call.ts'
import { typeOf } from './document.ts'
import { codeIn, Prose } from './prose.tsx'
import { SchemaView } from './schema-view.tsx'
import { TryIt } from './try-it.tsx'
import type { Content, OpenApi, Operation } from './types.ts'

/** An endpoint: what it does, what goes in, what comes out, and a form that calls it. */
export function OperationView({
  document,
  operation,
  base,
  csrf,
}: {
  document: OpenApi
  operation: Operation
  base: string
  csrf: CsrfNames | undefined
}) {
  const { method, path, summary, description, requestBody, responses } = operation
  return (
    <article>
      <h2 id="operation-title" tabIndex={-1} lang="en">
        {codeIn(summary)}
      </h2>
      <p class="address">
        <span class="method" data-method={method}>
          {method}
        </span>{' '}
        <code>{path}</code>
      </p>
      {description && <Prose text={description} />}
      <p class="quiet">{accessOf(operation)}</p>
      <h3>{docsTexts.value.attempt}</h3>
      <TryIt key={operation.operationId} operation={operation} base={base} csrf={csrf} />
      {requestBody && (
        <>
          <h3>{docsTexts.value.body}</h3>
          <ContentView document={document} content={requestBody.content} />
        </>
      )}
      <h3>{docsTexts.value.responses}</h3>
      {responses.map(({ status, description, content = {} }) => (
        <details key={status} class="response" open={status.startsWith('2')}>
          <summary>
            <strong>{status}</strong> {codeIn(description)}
          </summary>
          <ContentView document={document} content={content} />
        </details>
      ))}
    </article>
  )
}

function ContentView({ document, content }: { document: OpenApi; content: Content }) {
  return (
    <>
      {Object.entries(content).map(([type, { schema }]) => (
        <div key={type} class="content">
          <p class="quiet">
            <code>{type}</code> {schema && typeOf(schema)}
          </p>
          {schema && <SchemaView document={document} schema={schema} />}
        </div>
      ))}
    </>
  )
}

/** Who may call it, in a sentence. */
function accessOf({ security = [] }: Operation): string {
  const { access } = docsTexts.value
  const has = (name: string) => security.some((each) => name in each)
  const isOptional = security.length === 0 || security.some((each) => Object.keys(each).length === 0)
  if (has('metrics_token')) return access.token
  if (isOptional) return has('session') ? access.optional : access.public
  return has('key') ? access.both : access.session
}
