"""Reads the mails of a folder with Python's email package and writes one line of JSON for each, in the order of names.

With --fields, the fields of its header too. Each is read by both of its parsers: `compat32`, the old one, and `default`, which follows the newer RFCs.
"""
import base64
import email
import email.header
import email.policy
import email.utils
import json
import os
import sys


def structure(part):
    if not part.is_multipart():
        return part.get_content_type()
    return [part.get_content_type(), *(structure(child) for child in part.get_payload())]


def names(part):
    """In Content-Disposition, and in Content-Type as Outlook reads it.

    get_filename() would strip blanks, and with the new parser a pair of quotes or brackets too.
    """
    if isinstance(part.policy, email.policy.EmailPolicy):
        fields = part["Content-Disposition"], part["Content-Type"]
        filename, name = (field.params.get(key) if field else None for field, key in zip(fields, ("filename", "name")))
        return filename, name
    filename = part.get_param("filename", header="Content-Disposition")
    name = part.get_param("name")
    return (
        None if filename is None else email.utils.collapse_rfc2231_value(filename),
        None if name is None else str(email.header.make_header(email.header.decode_header(name))),
    )


ADDRESS_FIELDS = "From", "To", "Cc", "Reply-To"


def decoded(text):
    return str(email.header.make_header(email.header.decode_header(text)))


def mailboxes(message, field):
    """Name and address of each, or nothing where the field is missing."""
    value = message[field]
    if value is None:
        return None
    if isinstance(message.policy, email.policy.EmailPolicy):
        return [[address.display_name, address.addr_spec] for address in value.addresses]
    # With octets above 127 it is no text yet.
    pairs = email.utils.getaddresses([str(value).replace("\r\n", "")])
    return [[decoded(name), address] for name, address in pairs]


def fields(message):
    subject = message["Subject"]
    if not isinstance(message.policy, email.policy.EmailPolicy):
        subject = decoded(str(subject).replace("\r\n", ""))
    return {
        "names": message.keys(),
        "subject": str(subject),
        **{field: mailboxes(message, field) for field in ADDRESS_FIELDS},
    }


def leaf(part):
    filename, type_name = names(part)
    return {
        "type": part.get_content_type(),
        "disposition": part.get_content_disposition(),
        "filename": filename,
        "typeName": type_name,
        "contentId": part["Content-ID"],
        "charset": part.get_content_charset(),
        "content": base64.b64encode(part.get_payload(decode=True)).decode(),
        "defects": [repr(defect) for defect in part.defects],
    }


def read(path, policy):
    with open(path, "rb") as file:
        message = email.message_from_bytes(file.read(), policy=policy)
    parts = list(message.walk())
    return {
        "fields": fields(message) if "--fields" in sys.argv else None,
        "structure": structure(message),
        "leaves": [leaf(part) for part in parts if not part.is_multipart()],
        "defects": [repr(defect) for part in parts if part.is_multipart() for defect in part.defects],
    }


for name in sorted(os.listdir(sys.argv[1])):
    path = os.path.join(sys.argv[1], name)
    both = {"compat32": read(path, email.policy.compat32), "default": read(path, email.policy.default)}
    print(json.dumps(both))
