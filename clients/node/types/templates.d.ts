// Templates in Liquid.

export interface Templates {
  create(template: TemplateContent): Promise<Template>;
  /** Replaces all of it: what is not given is gone. */
  update(id: string, template: TemplateContent): Promise<Template>;
  delete(id: string): Promise<void>;
  list(): Promise<Template[]>;
  get(id: string): Promise<Template>;
}

export interface TemplateContent {
  name: string;
  /** Liquid; at least one of `html` and `text`. */
  html?: string | undefined;
  text?: string | undefined;
  /** Liquid, for messages without a subject of their own. */
  subject?: string | undefined;
}

export interface Template {
  id: string;
  name: string;
  html: string | null;
  text: string | null;
  subject: string | null;
  createdAt: string;
  updatedAt: string;
}
