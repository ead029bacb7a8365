import { useState } from 'preact/hooks'
import { docsTexts } from '../texts/settings.ts'
import { nameOf, objectsOf, typeOf } from './document.ts'
import { codeIn } from './prose.tsx'
import type { OpenApi, Schema } from './types.ts'

/** The fields of a schema; those that are objects open on a click, so that a schema may lead back to itself. */
export function SchemaView({ document, schema }: { document: OpenApi; schema: Schema }) {
  return (
    <>
      {objectsOf(document, schema).map(({ properties = {}, required = [] }, index) => (
        <ul key={index} class="fields">
          {Object.entries(properties).map(([name, field]) => (
            <FieldView key={name} document={document} name={name} field={field} isRequired={required.includes(name)} />
          ))}
        </ul>
      ))}
    </>
  )
}

function FieldView({
  document,
  name,
  field,
  isRequired,
}: {
  document: OpenApi
  name: string
  field: Schema
  isRequired: boolean
}) {
  const [isOpen, setOpen] = useState(false)
  const hasFields = objectsOf(document, field).length > 0
  const type = typeOf(field)
  return (
    <li>
      <code class="name">{name}</code>{' '}
      {hasFields ? (
        <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {type}
        </button>
      ) : (
        <span class="type">{describeOf(document, field, type)}</span>
      )}
      {isRequired && <span class="tag">{docsTexts.value.required}</span>}
      {field.description && <small>{codeIn(field.description)}</small>}
      {isOpen && <SchemaView document={document} schema={field} />}
    </li>
  )
}

/** The type; of a named one that has no fields, what it is. */
function describeOf(document: OpenApi, field: Schema, type: string): string {
  const name = nameOf(field)
  const named = name === undefined ? undefined : (document.components.schemas?.[name] as Schema | undefined)
  return named ? `${type}: ${typeOf(named)}` : type
}
